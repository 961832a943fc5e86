"""Graphs as pictures: layout, routing, folding, figures side by side."""
