/** Real processes and a real database, on a machine that may be slow and busy: what a test waits for has limits of its own. */
jest.setTimeout(120_000)
