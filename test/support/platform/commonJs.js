const { transformSync } = require('@swc/core')

/**
 * Turns a package of ES modules into what jest's module registry can require. For the Kubernetes client's thousand files:
 * a second instead of the minute that babel takes.
 */
module.exports = {
  process: (text) => transformSync(text, { jsc: { target: 'es2022' }, module: { type: 'commonjs' } }),
}
