/**
 * Changes an item of a cached list at once, and undoes that if the call fails. For `onQueryStarted`. The list may have
 * changed meanwhile, and the `undo` of RTK Query would find the item by its former index.
 * @param withItem calls a function with the item, if the list has it, and stores what the function changes
 */
export async function changeUnlessFailed<Item extends object>(
  queryFulfilled: Promise<unknown>,
  withItem: (change: (item: Item) => void) => unknown,
  changes: (item: Item) => Partial<Item>,
): Promise<void> {
  const before: Partial<Item> = {}
  withItem((item) => {
    const changed = changes(item)
    for (const key of Object.keys(changed) as (keyof Item)[]) before[key] = item[key]
    Object.assign(item, changed)
  })
  await queryFulfilled.catch(() => withItem((item) => Object.assign(item, before)))
}

/** Updates the cache when the call has succeeded, before its tags are refetched. For `onQueryStarted`. */
export async function updateOnSuccess<Data>(
  queryFulfilled: Promise<{ data: Data }>,
  update: (data: Data) => unknown,
): Promise<void> {
  await queryFulfilled.then(
    ({ data }) => update(data),
    // The mutation's state holds the failure.
    () => undefined,
  )
}
