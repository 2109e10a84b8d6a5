import { posix } from 'node:path'

/** The folder that a file is a part of: `harness/` counts by its layers, everything else by its own folder. */
const folderOf = (path) => posix.dirname(path)

/** Which folder imports which, by the imports of their files; types count. */
export function edgesOf(sources) {
  const edges = new Map()
  for (const [path, text] of sources) {
    for (const [, specifier] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
      const [from, to] = [folderOf(path), folderOf(posix.join(posix.dirname(path), specifier))]
      if (from === to || to === '.') continue
      if (!edges.has(from)) edges.set(from, new Set())
      edges.get(from).add(to)
    }
  }
  return edges
}

export function mutualPairs(edges) {
  const pairs = []
  for (const [from, targets] of edges) {
    for (const to of targets) if (from < to && edges.get(to)?.has(from)) pairs.push(`${from} and ${to}`)
  }
  return pairs
}

/** Folders from which a way of imports leads back to themselves. */
export function cyclesOf(edges) {
  return [...edges.keys()].filter((folder) => reaches(edges, folder, folder, new Set()))
}

function reaches(edges, from, goal, seen) {
  for (const next of edges.get(from) ?? []) {
    if (next === goal) return true
    if (seen.has(next)) continue
    seen.add(next)
    if (reaches(edges, next, goal, seen)) return true
  }
  return false
}
