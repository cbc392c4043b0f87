import Foundation
import HTTPTypes
import Hummingbird

/// What browsers read to install an app: its name, its icons, where it begins.
struct Manifest: Encodable {
    struct Picture: Encodable {
        let src: String
        let sizes: String
        let type: String
    }

    let name: String
    let shortName: String
    let startURL: String
    let scope = "/"
    let display = "standalone"
    let themeColor = "#1f7a4d"
    let backgroundColor = "#1f7a4d"
    let icons: [Picture]

    enum CodingKeys: String, CodingKey {
        case name, scope, display, icons
        case shortName = "short_name"
        case startURL = "start_url"
        case themeColor = "theme_color"
        case backgroundColor = "background_color"
    }

    init(_ site: Site) {
        name = site.name.text
        shortName = site.name.text
        startURL = site.home
        let pictures = site.icons.keys.sorted().map { side in
            Picture(src: "/icon-\(side).png", sizes: "\(side)x\(side)", type: "image/png")
        }
        icons = pictures + [Picture(src: "/favicon.svg", sizes: "any", type: "image/svg+xml")]
    }
}

extension Desk {
    /// The manifest, the icons, the service worker, and the page that shows without a connection.
    nonisolated func addInstalling(to router: Router<BasicRequestContext>) {
        let site = site
        getForAll(router, "/manifest.webmanifest") { _ in
            .file(try JSONEncoder().encode(Manifest(site)), type: "application/manifest+json")
        }
        for (side, icon) in site.icons {
            getForAll(router, RouterPath("/icon-\(side).png")) { _ in .file(icon, type: "image/png") }
        }
        getForAll(router, "/sw.js") { _ in
            guard let worker = Assets.data("sw.js") else { throw HTTPError(.notFound) }
            return .file(worker, type: "text/javascript; charset=utf-8")
        }
        get(router, "/offline") { _ in .page(Self.offlinePage(site)) }
    }

    private static func offlinePage(_ site: Site) -> Page {
        let links = site.kept.compactMap { path in site.tabs.first { "/\($0.path)" == path } }.map { tab -> HTML in
            "<a class=button href=\"/\(tab.path)\">\(tab.title)</a> "
        }
        return Page(
            site: site, title: "No connection", tab: "",
            content: """
                <div class=card><h1>No connection</h1><p>This page is not kept on this device. These are, as they were last:</p>
                <p class=row>\(links)</p></div>
                """)
    }
}
