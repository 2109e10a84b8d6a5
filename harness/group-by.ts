/** Groups items by key, in order of first appearance. Node.js 20 has no `Map.groupBy`. */
export function groupBy<Key, Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/** The groups with their keys, the largest first. */
export function largestFirst<Key, Item>(groups: Map<Key, Item[]>): [Key, Item[]][] {
  return [...groups].sort((one, other) => other[1].length - one[1].length)
}
