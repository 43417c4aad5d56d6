/**
 * Loaded into the platform before its own code: its clock goes ahead of the machine's by as many milliseconds as the test
 * that started it asks for. Timers keep their pace.
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
// The platform ends by itself, not when its parent does.
process.channel.unref()
