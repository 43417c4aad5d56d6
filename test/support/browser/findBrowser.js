const { existsSync } = require('node:fs')

/**
 * The path of a Chromium on this machine, or undefined: first CHROMIUM_PATH, then Playwright's own, then the system's.
 */
function findBrowser() {
  const candidates = [
    process.env.CHROMIUM_PATH,
    require('playwright-core').chromium.executablePath(),
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome-stable',
    '/usr/bin/google-chrome',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ]
  return candidates.find((path) => path && existsSync(path))
}

module.exports = { findBrowser }
