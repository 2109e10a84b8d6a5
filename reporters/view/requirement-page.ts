/**
 * Where a requirement has its page: `<site>/requirements/<id>.html`; undefined without a site.
 * @param site what the suite that wrote the report names, or whoever wrote it: no more than an address is made of it
 */
export function requirementPage(site: string | undefined, id: string): string | undefined {
  if (site === undefined || !/^https?:\/\//.test(site) || !URL.canParse(site)) return undefined
  const { href } = new URL(site)
  const path = id.split('/').map(encodeURIComponent).join('/')
  return `${href.replace(/\/+$/, '')}/requirements/${path}.html`.replaceAll('(', '%28').replaceAll(')', '%29')
}
