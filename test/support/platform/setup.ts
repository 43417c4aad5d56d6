/** Real processes and a real database on a busy machine: a test may take this long, and none should. */
jest.setTimeout(30_000)
