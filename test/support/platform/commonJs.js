const { transformSync } = require('@swc/core')

/**
 * Transforms a package of ES modules for jest's module registry. For the thousand files of the Kubernetes client this
 * takes a second instead of the minute that babel takes.
 */
module.exports = {
  process: (text) => transformSync(text, { jsc: { target: 'es2022' }, module: { type: 'commonjs' } }),
}
