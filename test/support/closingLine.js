/** Prints the last line of a run from jest's own result: `N passed, N failed, N skipped`. */
module.exports = class ClosingLine {
  onRunComplete(_contexts, result) {
    // A suite that fails to load has no tests to count, but must be reported.
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites
    const skipped = result.numPendingTests + result.numTodoTests
    // Jest prints its own summary after the reporters.
    process.on('exit', () =>
      process.stdout.write(`\n${result.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`),
    )
  }
}
