import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The page of the differences between the store and another one of the same model, as `coredata store diff` prints
/// them.
struct ComparePage: Sendable {
    let browser: StoreBrowser

    private static let limit = 500

    func response(_ visit: Visit) async throws -> StudioResponse {
        let suggestion = browser.comparedStore.map { $0.isFileURL ? $0.path : $0.absoluteString }
        let other = visit.query.text("with") ?? ""
        var result: HTML = ""
        var problem: String?
        if !other.isEmpty {
            do { result = try await difference(other) } catch { problem = ErrorMessage.text(of: error) }
        }
        let invalid: HTML = problem == nil ? "" : " aria-invalid=true aria-describedby=with-problem"
        let error: HTML = problem.map { text -> HTML in "<p class=problem id=with-problem>\(text)</p>" } ?? ""
        let content: HTML = """
            <h1>Comparison</h1>
            <p>Compares the objects of this store with those of another store of the same model. Both are read only.</p>
            <form action="\(Address("store", "compare"))"><div class=field><label for=with>Path of the other store</label>
            <div class=row><div class=search><input id=with name=with value="\(other.isEmpty ? suggestion ?? "" : other)"\
            \(invalid)></div><button class=main>Compare</button></div>\(error)</div></form>
            \(result)
            """
        let page = Page(
            title: "Comparison", section: .store, crumbs: [.init("Store", Address("store"))],
            side: await browser.side(current: nil), content: content)
        return .html(page.html(for: visit), status: problem == nil ? 200 : 422)
    }

    private func difference(_ path: String) async throws -> HTML {
        let browser = browser
        let difference = try await browser.work { () -> StoreDifference in
            try StoreFile.checkExists(path)
            let other = try OpenStore(reading: path, model: browser.storeModel)
            defer { for store in other.coordinator.persistentStores { try? other.coordinator.remove(store) } }
            return try StoreDifference(
                browser.opened, other, uniques: try UniqueAttributes([:], in: browser.opened.model), limit: Self.limit)
        }
        let rows = difference.entities.map { counts -> HTML in
            let numbers = [counts.first, counts.second, counts.onlyInFirst, counts.onlyInSecond, counts.changed]
            let cells = numbers.map { number -> HTML in "<td class=number>\(GroupedNumber.text(number))" }
            return "<tr><th scope=row>\(counts.entity)\(cells)"
        }
        let objects = difference.objects.map { object -> HTML in
            switch object.difference {
            case .onlyInFirst: "<li>Only here: \(name(object, isHere: true))"
            case .onlyInSecond: "<li>Only in the other store: \(name(object, isHere: false))"
            case .changed:
                "<li>Different: \(name(object, isHere: true)): \(object.properties.joined(separator: ", "))"
            }
        }
        let more: HTML =
            difference.unlistedCount > 0
            ? "<p class=hint>and \(GroupedNumber.text(difference.unlistedCount, "other object"))</p>" : ""
        return """
            <p class="\(difference.isEmpty ? "good" : "")">\
            \(difference.isEmpty ? "The stores have the same objects." : "The stores differ.")</p>
            <div class=scroll tabindex=0 role=region aria-label=Entities><table><thead><tr><th scope=col>Entity\
            <th scope=col class=number>Here<th scope=col class=number>Other store<th scope=col class=number>Only here\
            <th scope=col class=number>Only there<th scope=col class=number>Different</thead><tbody>\(rows)</tbody></table></div>
            <ul>\(objects)</ul>\(more)
            """
    }

    /// A link to an object of this store, if it is named by its key.
    private func name(_ object: StoreDifference.Object, isHere: Bool) -> HTML {
        guard isHere, let reference = ObjectReference(object.object) else { return "\(object.object)" }
        return ObjectLink(entity: reference.entity, key: reference.key).chip
    }
}
