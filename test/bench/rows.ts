/**
 * The programs of the table, in its order. Each is a file beside this one that measures the build in `root`
 * (`figures/root.ts`), tells each of its rows by `report` (`figures/report.ts`) and ends with 0. A row that is added
 * needs nothing else than its name here.
 */
export const ROWS = ['pages', 'lightCall', 'operators', 'overview', 'listing', 'upload']
