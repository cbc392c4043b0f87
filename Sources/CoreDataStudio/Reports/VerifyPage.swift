import CoreData
import CoreDataToolkit
import Foundation

/// The page of what a check of the store finds, as `coredata store verify` prints it.
struct VerifyPage: Sendable {
    let browser: StoreBrowser

    func response(_ visit: Visit) async throws -> StudioResponse {
        let browser = browser
        guard !browser.storeModel.isInferred else {
            return .html(
                await page(
                    "<p>The store keeps no copy of its model. Start Studio with the model to check the store.</p>"
                )
                .html(for: visit))
        }
        let verification = try await browser.work {
            try NSPersistentStoreCoordinator.verifyPersistentStore(
                at: browser.url, model: try NSManagedObjectModel(document: browser.document),
                configuration: browser.storeModel.configuration)
        }
        let errors = verification.findings.count { $0.severity == .error }
        let warnings = verification.findings.count { $0.severity == .warning }
        let summary: HTML =
            errors > 0
            ? "<p class=bad>\(GroupedNumber.text(errors, "problem")), \(GroupedNumber.text(warnings, "warning"))</p>"
            : "<p class=good>The store is sound\(warnings > 0 ? ", with \(GroupedNumber.text(warnings, "warning"))" : "").</p>"
        let findings = verification.findings.map(row)
        return .html(
            await page(
                """
                \(summary)
                <p class=hint>Checks the file, the tables, the keys and the relationships. It changes nothing.</p>
                \(findings.isEmpty ? "" : "<ul class=findings>\(findings)</ul>")
                """
            ).html(for: visit))
    }

    private func page(_ content: HTML) async -> Page {
        Page(
            title: "Verification", section: .store, crumbs: [.init("Store", Address("store"))],
            side: await browser.side(current: nil), content: "<h1>Verification</h1>\(content)")
    }

    private func row(_ finding: PersistentStoreVerification.Finding) -> HTML {
        let severity: HTML =
            switch finding.severity {
            case .error: "<b class=bad>Problem</b>"
            case .warning: "<b>Warning</b>"
            case .note: "Note"
            }
        var place: HTML = ""
        if let entity = finding.entity {
            place = "<a href=\"\(RowQuery(entity: entity).address())\">\(entity)</a>"
            if let row = finding.row {
                place += " <a href=\"\(Address("store", "object", entity, "p\(row)"))\">p\(String(row))</a>"
            }
            if let property = finding.property { place += " <code>\(property)</code>" }
            place += ": "
        }
        let hint: HTML = finding.hint.map { hint -> HTML in " <small>\(hint)</small>" } ?? ""
        return "<li>\(severity) \(place)\(finding.message)\(hint)"
    }
}
