/// Small pictures, drawn in the colour of the text around them.
enum Icon {
    static let logo: HTML = "<img src=/favicon.svg alt=\"\" width=28 height=28>"

    static func of(_ tab: Page.Tab) -> HTML {
        switch tab {
        case .prepare: svg("<path d=\"M4 6h2M4 12h2M4 18h2M10 6h10M10 12h10M10 18h10\"/>")
        case .shop:
            svg("<path d=\"M3 4h2l2.4 11h10.2L20 7H6\"/><circle cx=9 cy=19 r=1.5 /><circle cx=16 cy=19 r=1.5 />")
        case .units: svg("<path d=\"M4 8h16v8H4zM8 8v4M12 8v5M16 8v4\"/>")
        case .homeLocations: svg("<path d=\"M4 11l8-7 8 7M6 10v10h12V10\"/>")
        case .shopLocations: svg("<path d=\"M5 10v10h14V10M3 10l2-6h14l2 6zM10 20v-5h4v5\"/>")
        case .backups: svg("<path d=\"M4 5h16v4H4zM6 9v11h12V9M10 13h4\"/>")
        case .settings:
            svg("<path d=\"M4 7h10M18 7h2M4 17h2M10 17h10\"/><circle cx=16 cy=7 r=2 /><circle cx=8 cy=17 r=2 />")
        case .more: svg("<circle cx=5 cy=12 r=1.5 /><circle cx=12 cy=12 r=1.5 /><circle cx=19 cy=12 r=1.5 />")
        }
    }

    static let plus = svg("<path d=\"M12 5v14M5 12h14\"/>")
    static let back = svg("<path d=\"M15 5l-7 7 7 7\"/>")

    private static func svg(_ shape: HTML) -> HTML {
        "<svg viewBox=\"0 0 24 24\" width=24 height=24 aria-hidden=true>\(shape)</svg>"
    }
}
