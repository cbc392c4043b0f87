import Foundation
import LivePages

// What is behind "More" on a phone.
extension App {
    func morePage(_ visit: Visit) -> Reply {
        let tabs = Tab.allCases.filter { !$0.isInBar }
        let links = tabs.map { tab -> HTML in
            "<li><a class=name href=\"/\(tab.rawValue)\">\(tab.icon)<span>\(tab.title)</span></a>"
        }
        return .page(
            page(
                "More", .more,
                "<header class=top><h1>More</h1></header><div class=places><section><ul>\(links)</ul></section></div>"))
    }
}
