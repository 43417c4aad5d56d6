/** How the process that runs 7-Zip says why it ended, besides 7-Zip's own codes (0 to 8, 255). */
export const exitCodes = { tooLarge: 101, tooManyEntries: 102, link: 103 } as const
