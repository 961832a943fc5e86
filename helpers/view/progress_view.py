"""What came of exercises -> the outcome of one, or a table of how far a learner is."""

from . import View
from .outcome_page import render_outcome_html, render_outcome_text
from .progress_page import render_progress_html, render_progress_text

outcome = View(render_outcome_text, render_outcome_html)
progress = View(render_progress_text, render_progress_html)
