import Foundation

/// A model of notes that anybody reads and writes, in a folder of a test.
enum NotesModel {
    /// Runs the test with a folder and the model in it.
    static func run(_ test: (_ folder: URL, _ model: URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Program-\(UUID().uuidString)")
        let model = folder.appendingPathComponent("Notes.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try contents(identity: true).write(
            to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        try await test(folder, model)
    }

    /// The model's file; `more` is a further attribute.
    static func contents(identity: Bool, more: String = "") -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Note" representedClassName="NSManagedObject">
        \(identity ? "<attribute name=\"id\" attributeType=\"UUID\" usesScalarValueType=\"NO\"/>" : "")
        <attribute name="text" attributeType="String"/>
        <attribute name="value" optional="YES" attributeType="Integer 64"/>\(more)
        \(identity ? "<uniquenessConstraints><uniquenessConstraint><constraint value=\"id\"/></uniquenessConstraint></uniquenessConstraints>" : "")
        <userInfo><entry key="allow.read" value="anyone"/><entry key="allow.create" value="anyone"/>
        <entry key="allow.update" value="anyone"/><entry key="allow.delete" value="anyone"/></userInfo>
        </entity></model>
        """
    }
}
