/**
 * Loaded into the platform before its own code: moves its clock ahead by the milliseconds that the test sends. Timers
 * are not affected.
 */
const MachineDate = Date
let aheadMs = 0

globalThis.Date = class extends MachineDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [MachineDate.now() + aheadMs] : parts))
  }

  static now() {
    return MachineDate.now() + aheadMs
  }
}

process.on('message', (asked) => {
  aheadMs = asked.aheadMs
  process.send({ aheadMs })
})
// The channel to the parent must not keep the platform alive.
process.channel.unref()
