import { parse, type DefaultTreeAdapterTypes } from 'parse5'

type Node = DefaultTreeAdapterTypes.Node
export type Element = DefaultTreeAdapterTypes.Element

/** Every element of a page, in document order. */
export function elements(html: string): Element[] {
  const all: Element[] = []
  const visit = (node: Node) => {
    if ('tagName' in node) all.push(node)
    if ('childNodes' in node) node.childNodes.forEach(visit)
  }
  visit(parse(html))
  return all
}

export function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((one) => one.name === name)?.value
}

export function hasClass(element: Element, name: string): boolean {
  return attribute(element, 'class')?.split(' ').includes(name) === true
}

export function textOf(node: Node): string {
  if ('value' in node) return node.value
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : ''
}
