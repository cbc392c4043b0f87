import CoreData
import Foundation
import LivePages

/// How units and locations look in their lists.
@MainActor enum PlaceRows {
    static func form(_ kind: PlaceKind) -> LiveList.Form {
        let request = NSFetchRequest<NSManagedObject>(entityName: kind.entityName)
        request.sortDescriptors = kind.order()
        request.relationshipKeyPathsForPrefetching = ["items"]
        return LiveList.Form(
            request: request, sectionKeyPath: nil, row: { row($0, kind) },
            section: { _, _, rows in "<section><ul>\(rows)</ul></section>\n" })
    }

    private static func row(_ place: NSManagedObject, _ kind: PlaceKind) -> HTML {
        let name = place.value(forKey: kind.key) as? String ?? ""
        let count = (place.value(forKey: "items") as? NSSet)?.count ?? 0
        return """
            <li id=i\(place.number)><a class=name href="/\(kind.rawValue)/\(place.number)">\
            <span>\(name.isEmpty ? "Unnamed" : name)</span> <small>\(Count.items(count))</small></a>

            """
    }
}

extension Count {
    static func items(_ count: Int) -> String { of(count, "item") }
}
