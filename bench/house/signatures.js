import ts from 'typescript'

/** An object that functions of so many files take counts as handed round. */
const manyFiles = 5
const mostParameters = 4

function parsed(sources) {
  return [...sources].map(([path, text]) => ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
}

function eachNode(node, visit) {
  visit(node)
  ts.forEachChild(node, (child) => eachNode(child, visit))
}

/** Functions with more parameters than anybody keeps apart, as `path: name`. */
export function longFunctions(sources) {
  const found = []
  for (const file of parsed(sources)) {
    eachNode(file, (node) => {
      if (!ts.isFunctionLike(node) || node.parameters.length <= mostParameters) return
      found.push(`${file.fileName}: ${node.name?.getText() ?? 'a function'}`)
    })
  }
  return found
}

/** Of the interfaces of behaviour that functions of many files take as a parameter, the one with the most members. */
export function handedRound(sources) {
  const files = parsed(sources)
  const takers = new Map()
  const members = new Map()
  for (const file of files) {
    eachNode(file, (node) => {
      if (ts.isInterfaceDeclaration(node) && node.members.some(acts))
        members.set(node.name.text, { path: file.fileName, count: node.members.length })
      if (!ts.isParameter(node) || !node.type || !ts.isTypeReferenceNode(node.type)) return
      const name = node.type.typeName.getText()
      if (!takers.has(name)) takers.set(name, new Set())
      takers.get(name).add(file.fileName)
    })
  }
  const wide = [...members].filter(
    ([name, { path }]) => isBehaviour(path) && (takers.get(name)?.size ?? 0) >= manyFiles,
  )
  const [name = 'none', { count = 0, path = '' } = {}] = wide.sort((a, b) => b[1].count - a[1].count)[0] ?? []
  return { name, members: count, path }
}

/** An interface without any function is data, and as wide as that. */
function acts(member) {
  return ts.isMethodSignature(member) || (member.type !== undefined && ts.isFunctionTypeNode(member.type))
}

/** Data that a file or a report holds is as wide as its contract says. */
function isBehaviour(path) {
  return !/^(catalogue|schemas|reporters|certificate)\/|harness\/(report|target|recording|http)\//.test(path)
}
