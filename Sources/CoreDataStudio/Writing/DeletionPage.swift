import CoreData
import CoreDataToolkit
import Foundation

/// The effects of deleting an object, found by deleting it in a context that is not saved.
struct DeletionPreview: Sendable {
    struct Change: Sendable {
        var link: ObjectLink
        var properties: [String]
    }

    var link: ObjectLink
    /// The objects that delete rules delete as well.
    var deleted: [ObjectLink]
    var deletedCount: Int
    /// The objects that lose a reference.
    var changed: [Change]
    var changedCount: Int
    /// The reasons for which the deletion would fail.
    var problems: [String]

    static let limit = 100

    init(_ object: NSManagedObject, in context: NSManagedObjectContext) throws {
        guard let link = ObjectLink(object) else { throw PageFailure.missing("The object has no ID.") }
        self.link = link
        context.delete(object)
        context.processPendingChanges()
        let deleted = context.deletedObjects
        let others = deleted.filter { $0 !== object }
        self.deleted = others.prefix(Self.limit).compactMap { ObjectLink($0) }.sorted { $0.reference < $1.reference }
        deletedCount = others.count
        let updated = context.updatedObjects
        changed = updated.prefix(Self.limit).compactMap { object in
            ObjectLink(object).map { Change(link: $0, properties: object.changedValues().keys.sorted()) }
        }.sorted { $0.link.reference < $1.link.reference }
        changedCount = updated.count
        problems = []
        for object in deleted {
            do { try object.validateForDelete() } catch { problems.append(ErrorMessage.text(of: error)) }
        }
        for object in updated {
            do { try object.validateForUpdate() } catch { problems.append(ErrorMessage.text(of: error)) }
        }
        context.rollback()
    }
}

/// The page that asks before an object is deleted.
struct DeletionPage: Sendable {
    let browser: StoreBrowser

    func response(_ visit: Visit) async throws -> StudioResponse {
        let (browser, entity, key) = (browser, visit.parameter("entity"), visit.parameter("key"))
        let preview = try await browser.read { context in
            try DeletionPreview(try browser.object(entity, key, in: context), in: context)
        }
        let name = preview.link.label ?? preview.link.reference
        var effects: HTML = ""
        if preview.deletedCount > 0 {
            effects += """
                <h2>Deleted as well: \(GroupedNumber.text(preview.deletedCount, "object"))</h2>
                <p class=chips>\(preview.deleted.map(\.chip))\(more(preview.deletedCount, preview.deleted.count))</p>
                """
        }
        if preview.changedCount > 0 {
            let rows = preview.changed.map { change -> HTML in
                "<li>\(change.link.chip) \(change.properties.joined(separator: ", "))"
            }
            effects += """
                <h2>Lose their reference: \(GroupedNumber.text(preview.changedCount, "object"))</h2>
                <ul>\(rows)</ul>\(more(preview.changedCount, preview.changed.count))
                """
        }
        if preview.deletedCount + preview.changedCount == 0 { effects += "<p>No other object changes.</p>" }
        let problems = preview.problems.map { text -> HTML in "<p class=\"notice bad lines\">\(text)</p>" }
        let button: HTML = preview.problems.isEmpty ? "<button class=danger>Delete</button>" : ""
        let content: HTML = """
            <h1>Delete \(name)?</h1>\(problems)\(effects)
            <form method=post action="\(Address("store", "delete", entity, key))">\(visit.formField)
            <div class=row>\(button)<a class=button href="\(preview.link.address)">Cancel</a></div></form>
            """
        let page = Page(
            title: "Delete \(name)", section: .store,
            crumbs: [.init("Store", Address("store")), .init(entity, RowQuery(entity: entity).address())],
            content: content)
        return .html(page.html(for: visit))
    }

    private func more(_ count: Int, _ shown: Int) -> HTML {
        count > shown ? "<span class=hint>and \(GroupedNumber.text(count - shown)) more</span>" : ""
    }
}
