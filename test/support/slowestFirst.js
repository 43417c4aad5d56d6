const Sequencer = require('@jest/test-sequencer').default

/** Tests that are slower than their size suggests, the slowest first. Used until jest has recorded durations. */
const SLOW = [
  'platform/runtime/kubernetes/realCluster',
  'e2e/console',
  'e2e/kills',
  'e2e/largeFile',
  'platform/runtime/contained/containedRuntime',
  'platform/runtime/contained/containment',
  'e2e/admin',
  'platform/deployments/gameServer',
  'platform/databases/mongo',
  'platform/deployments/killSeries',
  'platform/deployments/managerKills',
  'platform/databases/interrupted',
  'platform/databases/platformLife',
  'platform/twoPlatforms',
  'platform/start',
  'platform/kubernetes/dashboard',
  'platform/share/races',
  'platform/outOfFiles',
  // It waits for the real cluster until the test realCluster has ended.
  'deploy/inCluster',
].map((name) => `/test/${name}.test.ts`)

/**
 * Sorts tests like jest by recorded durations, or at first by the list above, so that no worker ends with a slow file.
 */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path, duration }) => {
      const rank = SLOW.findIndex((end) => path.endsWith(end))
      return duration !== undefined || rank < 0 ? SLOW.length : rank
    }
    return [...super.sort(tests)].sort((one, other) => rankOf(one) - rankOf(other))
  }
}
