/** Each of these tests walks through the whole product, and each step has its own time limit. */
jest.setTimeout(600_000)
