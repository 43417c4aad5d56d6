/* global addEventListener, document, location, window */
/* Inlined into the files of the pages after sign-in: requests the first data of the page while its scripts load. */
;(function () {
  var token = (/(?:^|; )token=([^;]+)/.exec(document.cookie) || [])[1]
  if (!token) return
  var base = document.documentElement.getAttribute('data-base') || ''
  var path = location.pathname.slice(base.length)

  // The base query takes these instead of requesting them (src/web/api/transport/baseQuery.ts).
  var responses = (window.firstResponses = {})
  function ask(call) {
    var response = fetch(base + '/api/' + call, {
      headers: { accept: 'application/json', authorization: 'Bearer ' + token },
      signal: AbortSignal.timeout(30000),
    })
    // The failure is that of the call that takes the response.
    response.catch(function () {})
    responses['GET' + call] = function (theirToken) {
      delete responses['GET' + call]
      // Another user may have signed in meanwhile.
      return theirToken === token ? response : undefined
    }
  }

  var first = {
    '/': ['deployments?instances=true'],
    '/deployments': ['deployments?instances=true'],
    '/consoles': ['deployments?instances=true'],
    '/databases': ['database/sql', 'database/mongo'],
    '/keys': ['keys'],
    '/security': ['account/methods', 'account/openid'],
  }
  var deployment = /^\/deployments\/([^/]+)\/edit$/.exec(path)
  var instance = /^\/instance\/([^/]+)\/[^/]+$/.exec(path)
  var directory = /^\/files(\/.+?)?\/?$/.exec(path)
  if (deployment) first[path] = ['deployments/' + deployment[1]]
  if (instance) first[path] = ['deployments/' + instance[1] + '/instances']
  if (directory)
    try {
      first[path] = ['sftp/files?path=' + encodeURIComponent('/nfsshare' + decodeURIComponent(directory[1] || ''))]
    } catch {
      // The address is not valid, so the console requests nothing either.
    }
  ask('account')
  ;(first[path] || []).forEach(ask)

  // What the page does not take now would be out of date later.
  addEventListener('load', function () {
    setTimeout(function () {
      window.firstResponses = undefined
    }, 5000)
  })
})()
