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
].map((name) => `/test/${name}.test.ts`)

/** It would wait for the real cluster, and occupy a worker, until the slowest test, realCluster, has ended. */
const HALFWAY = '/test/deploy/inCluster.test.ts'

/**
 * Sorts tests like jest by recorded durations, or at first by the list above, so that no worker ends with a slow file.
 * One test runs halfway.
 */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path, duration }) => {
      const rank = SLOW.findIndex((end) => path.endsWith(end))
      return duration !== undefined || rank < 0 ? SLOW.length : rank
    }
    const sorted = [...super.sort(tests)].sort((one, other) => rankOf(one) - rankOf(other))
    const others = sorted.filter(({ path }) => !path.endsWith(HALFWAY))
    const moved = sorted.filter(({ path }) => path.endsWith(HALFWAY))
    return others.toSpliced(others.length / 2, 0, ...moved)
  }
}
