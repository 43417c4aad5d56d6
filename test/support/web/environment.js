const { TestEnvironment } = require('jest-environment-jsdom')

/**
 * jsdom with the web APIs that Node.js has and jsdom lacks. MessageChannel is left out, because jest would never exit.
 */
module.exports = class WebEnvironment extends TestEnvironment {
  // msw's browser entry needs a service worker; the empty condition selects the one for Node.js.
  exportConditions() {
    return ['']
  }

  async setup() {
    await super.setup()
    const missing = [
      'TextEncoder',
      'TextDecoder',
      'fetch',
      'Request',
      'Response',
      'Headers',
      'FormData',
      'Blob',
      'structuredClone',
      'ReadableStream',
      'WritableStream',
      'TransformStream',
      'BroadcastChannel',
      'AbortController',
      'AbortSignal',
    ]
    for (const name of missing) this.global[name] = globalThis[name]
  }
}
