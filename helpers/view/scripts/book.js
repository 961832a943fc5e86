// The frame of a page of the book: theme, paper, contents, keys for what scrolls, glossary, search.

import { foldContents } from "./book/contents.js";
import { explainWords } from "./book/glossary.js";
import { preparePaper } from "./book/paper.js";
import { letReachScrolling } from "./book/scrolling.js";
import { offerSearch } from "./book/search.js";
import { offerThemes } from "./book/theme.js";

offerThemes();
preparePaper();
foldContents();
letReachScrolling();
explainWords();
offerSearch();
