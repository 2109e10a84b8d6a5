import { registerBadge } from './badge.ts'
import { indexJson } from './index-json.ts'
import { listPage } from './list-page.ts'
import type { ReadOptions } from './read-folder.ts'
import { readRegister } from './read-folder.ts'
import { servicePage } from './service-page.ts'
import { certificateName, type Service, servicesOf } from './services.ts'
import type { Site } from './write-site.ts'
import { writeSite } from './write-site.ts'

/**
 * Builds the site of the certified services from a folder of certificates, and gives the services. Throws UserError if a
 * certificate does not verify, and writes nothing then.
 */
export function buildRegister(folder: string, out: string, options: ReadOptions): readonly Service[] {
  const services = servicesOf(readRegister(folder, options))
  writeSite(out, siteOf(services, options.now), folder)
  return services
}

function siteOf(services: readonly Service[], now: Date): Site {
  const site = new Map<string, string | Uint8Array>([['index.html', listPage(services, now)]])
  for (const service of services) {
    const folder = `services/${service.slug}`
    site.set(`${folder}/index.html`, servicePage(service, now))
    site.set(`${folder}/badge.svg`, registerBadge(service.current))
    for (const one of service.certificates) site.set(`${folder}/${certificateName(one)}`, one.bytes)
  }
  return site.set('index.json', indexJson(services, [...site.keys(), 'index.json'], now))
}
