const Sequencer = require('@jest/test-sequencer').default

/** Those that take longer than their size tells, the slowest first. Of use where jest has recorded no durations yet. */
const SLOW = [
  'e2e/console',
  'e2e/kills',
  'e2e/largeFile',
  'platform/runtime/contained/containedRuntime',
  'e2e/admin',
  'platform/deployments/gameServer',
  'platform/databases/mongo',
  'platform/deployments/killSeries',
  'platform/databases/interrupted',
  'platform/databases/platformLife',
  'platform/twoPlatforms',
  'platform/start',
  'platform/kubernetes/dashboard',
  'platform/share/races',
  'platform/outOfFiles',
].map((name) => `/test/${name}.test.ts`)

/** As jest does it, by recorded durations, but the first time by what is known here: no worker is left with a slow file at the end. */
module.exports = class SlowestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path, duration }) => {
      const rank = SLOW.findIndex((end) => path.endsWith(end))
      return duration !== undefined || rank < 0 ? SLOW.length : rank
    }
    return [...super.sort(tests)].sort((one, other) => rankOf(one) - rankOf(other))
  }
}
