/** Each of these tests walks through the whole product. */
jest.setTimeout(120_000)
