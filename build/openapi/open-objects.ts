/**
 * The same document, in which an object whose members are not shown says that it may have any: generators take an object
 * without members for one that has none.
 */
export function withOpenObjects<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withOpenObjects) as Value
  const members = Object.entries(value).map(([name, one]) => [name, withOpenObjects<unknown>(one)] as const)
  const isBare = 'type' in value && value.type === 'object' && !('properties' in value)
  return Object.fromEntries(isBare ? [...members, ['additionalProperties', true]] : members) as Value
}
