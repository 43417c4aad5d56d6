/* global addEventListener, document, location */
/* Inlined after the login form of the page's file: lets people use the form before the console has started. */
;(function () {
  // With a session, or in the middle of a sign-in, the page looks different. The console then starts with an empty one.
  var isOther = location.search !== '' || /(?:^|; )token=/.test(document.cookie)
  try {
    isOther = isOther || localStorage.getItem('sessionToken') !== null
  } catch {
    // Without storage there is no sign-in to continue.
  }
  if (isOther) document.getElementById('root').textContent = ''
  else document.querySelector('input').focus()

  // The browser itself must never send a form: what was typed would be in the address. The form sends it later.
  document.addEventListener('submit', function (event) {
    // The console has handled it.
    if (event.defaultPrevented) return
    event.preventDefault()
    event.target.dataset.early = ''
  })

  // What the page after sign-in loads, with the lowest priority.
  addEventListener('load', function () {
    document.head.append(document.querySelector('template').content)
  })
})()
