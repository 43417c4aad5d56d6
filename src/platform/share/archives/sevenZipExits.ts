/** Exit codes of the 7-Zip process, besides 7-Zip's own (0 to 8, 255). */
export const exitCodes = { tooLarge: 101, tooManyEntries: 102, link: 103, longName: 104, encrypted: 105 } as const
