/** Tests with real processes and a real database on a slow machine; what they wait for has its own limits. */
jest.setTimeout(120_000)
