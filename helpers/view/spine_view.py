"""A journey, or who gets hold of a call -> the line of stations of the map."""

from . import View
from .interceptions_page import render_interceptions_html, render_interceptions_text
from .journey_page import render_journey_html, render_journey_text

interceptions = View(render_interceptions_text, render_interceptions_html)
journey = View(render_journey_text, render_journey_html)
