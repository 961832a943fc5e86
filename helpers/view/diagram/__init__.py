"""Graphs as pictures: place the boxes, route the arrows, place the labels, write the SVG."""
