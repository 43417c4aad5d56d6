/** Each of these tests walks through the whole product; each of its steps has a limit of its own. */
jest.setTimeout(600_000)
