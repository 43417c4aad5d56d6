/** The last line of a run, from jest's own result: `N passed, N failed, N skipped`. */
module.exports = class ClosingLine {
  onRunComplete(_contexts, result) {
    // A suite that could not even load has no test to count, and must not go unseen.
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites
    const skipped = result.numPendingTests + result.numTodoTests
    // Jest's own summary comes after the reporters.
    process.on('exit', () =>
      process.stdout.write(`\n${result.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`),
    )
  }
}
