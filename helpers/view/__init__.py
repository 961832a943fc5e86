"""Model -> text, HTML and SVG. Nothing here has ever seen a live object."""
