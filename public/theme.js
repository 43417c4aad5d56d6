/* global document, matchMedia */
/* Sets the theme before the first paint. It is a file of its own because the content security policy allows no inline script. */
;(function () {
  var choice = 'auto'
  try {
    choice = localStorage.getItem('theme') || choice
  } catch {
    // Without storage the system decides.
  }
  var dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-bs-theme', dark ? 'dark' : 'light')
})()
