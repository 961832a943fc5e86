"""The names of this module's successors, for the rooms that still import them here."""

from .frame_attributes import list_frame_attributes as frame_listing
from .frame_exits import is_at_yield as suspends
from .frame_stack import list_frames as frame_objects
from .frame_timeline import record_frames as frames_timeline
from .traceback_chain import list_traceback as traceback_listing

__all__ = ["frame_listing", "frame_objects", "frames_timeline", "suspends", "traceback_listing"]
