/* global addEventListener, document, location, matchMedia */
/* Inlined into the page: runs before the first paint. */
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

  // Without its entry script the page stays empty: request the script again until it loads. The entry does the same for
  // its chunks.
  addEventListener(
    'error',
    function (event) {
      var failed = event.target
      if (failed.defer)
        setTimeout(function () {
          var script = document.createElement('script')
          script.defer = true
          script.src = failed.src
          document.head.append(script)
        }, 2000)
    },
    true,
  )
})()
