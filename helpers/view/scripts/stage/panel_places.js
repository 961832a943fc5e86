// The panels of all steps -> the places that they share.

const MOST_TITLES = 6; // up to here a panel keeps its place by title, beyond it by position

/** Return a function: a panel's title and position -> the name of its place. */
export function makePlaceFinder(tracks) {
  const titles = new Set(tracks.flatMap((track) => (track.panels ?? []).map(([title]) => title)));
  const isByTitle = titles.size <= MOST_TITLES;
  return (title, position) => (isByTitle && title ? title : `#${position}`);
}

/** Return the contents of each place, by its name, in the order in which they come. */
export function collectContents(tracks, findPlace) {
  const contents = new Map();
  for (const { panels = [] } of tracks) {
    panels.forEach(([title, content], position) => {
      const place = findPlace(title, position);
      contents.set(place, (contents.get(place) ?? new Set()).add(content));
    });
  }
  return contents;
}
