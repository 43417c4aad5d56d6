/** Undoes an optimistic update if the call fails. For `onQueryStarted`. */
export async function undoOnFailure(queryFulfilled: Promise<unknown>, patch: { undo: () => void }): Promise<void> {
  await queryFulfilled.catch(patch.undo)
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
