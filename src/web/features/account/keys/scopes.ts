import type { Scope } from '../../../../contract/access'

/** Whatever is chosen, a key can never do more than its user. */
export const scopes: Record<Scope, { name: string; meaning: string }> = {
  read: { name: 'Read', meaning: 'Reads deployments, instances and the state of the platform.' },
  console: { name: 'Console', meaning: 'Reads consoles and sends commands.' },
  power: { name: 'Power', meaning: 'Starts, stops and restarts.' },
  files: { name: 'Files', meaning: 'Reads and changes files.' },
  configuration: { name: 'Configuration', meaning: 'Creates deployments, and reads and changes their configurations.' },
  databases: { name: 'Databases', meaning: 'Manages databases and reads their passwords.' },
  schedules: { name: 'Schedules', meaning: 'Plans commands and restarts.' },
  backups: { name: 'Backups', meaning: 'Creates and restores backups.' },
  metrics: { name: 'Metrics', meaning: 'Reads the load of instances.' },
  admin: { name: 'Admin', meaning: 'Manages users, invite codes and the activity log.' },
}
