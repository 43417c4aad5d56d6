/* global document, location, matchMedia */
/* Runs before the first paint. It is a file of its own because the content security policy allows no inline script. */
;(function () {
  var root = document.documentElement
  // Only a browser that opens the platform past its proxy is outside of the sub-path.
  var base = root.getAttribute('data-base') || ''
  var path = location.pathname
  if (path !== base && path.indexOf(base + '/') !== 0) location.replace(base + path + location.search + location.hash)

  var choice = 'auto'
  try {
    choice = localStorage.getItem('theme') || choice
  } catch {
    // Without storage the system decides.
  }
  var dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  root.setAttribute('data-bs-theme', dark ? 'dark' : 'light')
})()
