/** The name that is tried as the `count`th where one is taken: `world.tar.gz` and 2 make `world (2).tar.gz`. */
export function numberedName(name: string, count: number): string {
  const [, stem = name, extension = ''] = /^(.+?)(\.tar\.[a-z0-9]+|\.[^.]*)?$/i.exec(name) ?? []
  return `${stem} (${count})${extension}`
}
