import Foundation
import Testing

/// A model in a file of its own, from the elements inside `model`.
func modelFile(_ elements: String, named name: String = "Model.xcdatamodel", in scratch: Scratch) throws -> String {
    let model = scratch.folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    let contents = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        \(elements)
        </model>
        """
    try contents.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    return model.path
}

@Suite struct ModelLintTests {
    @Test func anIndexWithAPredicateThatNoStoreCanHaveIsAnErrorOfASource() throws {
        let scratch = try Scratch()
        let model = try modelFile(
            """
            <entity name="Shelf">
                <attribute name="title" optional="YES" attributeType="String"/>
                <fetchIndex name="some" partialIndexPredicate="title CONTAINS &quot;x&quot;">
                    <fetchIndexElement property="title"/>
                </fetchIndex>
            </entity>
            """, in: scratch)
        let lint = try CommandRun.coredata("model", "lint", model)
        #expect(lint.status == 1)
        #expect(lint.output.contains("error: The predicate of index 'some' in entity 'Shelf'"), "\(lint.output)")
        let compiled = scratch.path("Model.mom")
        #expect(try CommandRun.coredata("model", "compile", model, "--output", scratch.folder.path).status == 0)
        let warned = try CommandRun.coredata("model", "lint", compiled)
        #expect(warned.status == 0)
        #expect(warned.output.contains("warning: The predicate of index 'some' in entity 'Shelf'"), "\(warned.output)")
        let store = try scratch.makeStore(model: compiled)
        #expect(try CommandRun.coredata("store", "verify", store).output == "\(store) is sound\n")
    }

    /// Apple's tools accept both: stores are made without them.
    @Test func anIndexThatNoStoreCanHaveIsAWarning() throws {
        let scratch = try Scratch()
        let model = try modelFile(
            """
            <entity name="Shelf">
                <attribute name="title" optional="YES" attributeType="String"/>
                <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Shelf" \
            inverseName="books" inverseEntity="Shelf"/>
                <fetchIndex name="byBooks"><fetchIndexElement property="books"/></fetchIndex>
                <fetchIndex name="byTitle"><fetchIndexElement property="title"/></fetchIndex>
                <fetchIndex name="byTitle"><fetchIndexElement property="title" order="descending"/></fetchIndex>
            </entity>
            """, in: scratch)
        let lint = try CommandRun.coredata("model", "lint", model)
        #expect(lint.status == 0)
        #expect(lint.output.contains("warning: index 'byBooks' of entity 'Shelf' has 'books' as an element"))
        #expect(lint.output.contains("warning: entity 'Shelf' has two indexes named 'byTitle'"))
        let store = try scratch.makeStore(model: model)
        #expect(try CommandRun.coredata("store", "verify", store).output == "\(store) is sound\n")
    }

    /// What predicates and SQL decide, which the model's own tests cannot: rule, model that breaks it, model that does not.
    @Test(arguments: [
        (
            "bad-predicate", #"<fetchRequest name="all" entity="Book" predicateString="title ==="/>"#,
            #"<fetchRequest name="all" entity="Book" predicateString="title == $TITLE"/>"#
        ),
        (
            "unknown-key", #"<fetchRequest name="all" entity="Book" predicateString="author.nam == &quot;x&quot;"/>"#,
            #"<fetchRequest name="all" entity="Book" predicateString="ANY author.books.title == &quot;x&quot;"/>"#
        ),
        (
            "unknown-key",
            #"<fetchRequest name="all" entity="Book" predicateString="SUBQUERY(authors, $a, $a.x == 1).@count > 1"/>"#,
            #"<fetchRequest name="all" entity="Author" predicateString="SUBQUERY(books, $b, $b.title == nil).@count > 1"/>"#
        ),
    ])
    func requests(rule: String, broken: String, mended: String) throws {
        try check(rule, Self.library + broken, Self.library + mended)
    }

    @Test(arguments: [
        (
            "bad-predicate", #"attributeType="String" regularExpressionString="[a-""#,
            #"attributeType="String" regularExpressionString="[a-z]+""#
        ),
        (
            "default-fails-validation", #"attributeType="String" minValueString="3" defaultValueString="ab""#,
            #"attributeType="String" minValueString="3" defaultValueString="abc""#
        ),
        (
            "default-fails-validation",
            #"attributeType="String" regularExpressionString="[a-z]+" defaultValueString="A1""#,
            #"attributeType="String" regularExpressionString="[a-z]+" defaultValueString="a""#
        ),
        (
            "default-fails-validation", #"attributeType="Integer 16" minValueString="1" defaultValueString="0""#,
            #"attributeType="Integer 16" minValueString="1" defaultValueString="1""#
        ),
        (
            "default-fails-validation", #"attributeType="Date" minDateTimeInterval="10" defaultDateTimeInterval="5""#,
            #"attributeType="Date" minDateTimeInterval="10" defaultDateTimeInterval="15""#
        ),
        (
            "bad-derivation", #"attributeType="String" derived="YES" derivationExpression="authr.name""#,
            #"attributeType="String" derived="YES" derivationExpression="author.name""#
        ),
        (
            "bad-derivation", #"attributeType="String" derived="YES" derivationExpression="reverse:(title)""#,
            #"attributeType="String" derived="YES" derivationExpression="canonical:(title)""#
        ),
    ])
    func attributes(rule: String, broken: String, mended: String) throws {
        func library(_ attribute: String) -> String {
            Self.library.replacingOccurrences(
                of: "<!-- -->", with: "<attribute name=\"x\" optional=\"YES\" \(attribute)/>")
        }
        try check(rule, library(broken), library(mended))
    }

    @Test func fetchedPropertiesReadBothEnds() throws {
        func library(_ predicate: String) -> String {
            Self.library.replacingOccurrences(
                of: "<!-- -->",
                with: """
                    <fetchedProperty name="same" optional="YES"><fetchRequest name="fetchedPropertyFetchRequest" \
                    entity="Author" predicateString="\(predicate)"/></fetchedProperty>
                    """)
        }
        try check("unknown-key", library("name == $FETCH_SOURCE.name"), library("name == $FETCH_SOURCE.title"))
        try check("unknown-key", library("title == $FETCH_SOURCE.title"), library("name == $FETCHED_PROPERTY.x"))
    }

    private func check(_ rule: String, _ broken: String, _ mended: String) throws {
        let scratch = try Scratch()
        let found = try CommandRun.coredata("model", "lint", modelFile(broken, in: scratch))
        #expect(found.output.contains("[\(rule)]"), "\(found.output)")
        #expect(found.output.contains("contents:"))
        let none = try CommandRun.coredata("model", "lint", modelFile(mended, in: scratch))
        #expect(none.output == "Model: nothing to mend\n" && none.status == 0, "\(none.output)")
    }

    static let library = """
        <entity name="Author">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author" \
        inverseEntity="Book"/>
        </entity>
        <entity name="Book">
        <attribute name="title" optional="YES" attributeType="String"/><!-- -->
        <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books" \
        inverseEntity="Author"/>
        </entity>
        """

    // MARK: The command

    @Test func warningsCountWhenStrict() throws {
        let scratch = try Scratch()
        let model = try modelFile(#"<entity name="Empty"/>"#, in: scratch)
        let run = try CommandRun.coredata("model", "lint", model)
        #expect(run.status == 0)
        #expect(
            run.output == """
                \(model)/contents:3:1: warning: entity 'Empty' has no properties [entity-without-properties]
                    <entity name="Empty"/>
                    ^
                hint: give it properties or remove it
                Model: 1 warning

                """)
        #expect(try CommandRun.coredata("model", "lint", model, "--strict").status == 1)
        let notes = try modelFile(
            #"<entity name="A"><attribute name="default" optional="YES" attributeType="Date"/></entity>"#, in: scratch)
        #expect(try CommandRun.coredata("model", "lint", notes, "--strict").status == 0)
    }

    @Test func errorsCountAlways() throws {
        let scratch = try Scratch()
        let model = try modelFile(
            #"<entity name="A"><attribute name="hash" attributeType="Date"/></entity>"#, in: scratch)
        let run = try CommandRun.coredata("model", "lint", model, "--format", "json")
        #expect(run.status == 1)
        let report = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        #expect(report["errorCount"] as? Int == 1 && report["warningCount"] as? Int == 0)
        let finding = try #require((report["findings"] as? [[String: Any]])?.first)
        #expect(finding["rule"] as? String == "reserved-name" && finding["severity"] as? String == "error")
        #expect(finding["entity"] as? String == "A" && finding["property"] as? String == "hash")
        #expect(finding["line"] as? Int == 3 && finding["column"] as? Int == 18)
    }

    @Test func aVersionIsCheckedAgainstTheOneBefore() throws {
        let scratch = try Scratch()
        let attribute = #"<entity name="A"><attribute name="x" attributeType="String" "#
        _ = try modelFile(attribute + "optional=\"YES\"/></entity>", named: "M.xcdatamodeld/M.xcdatamodel", in: scratch)
        _ = try modelFile(attribute + "/></entity>", named: "M.xcdatamodeld/M 2.xcdatamodel", in: scratch)
        let model = scratch.path("M.xcdatamodeld")
        #expect(try CommandRun.coredata("model", "lint", model, "--version", "M").output == "M: nothing to mend\n")
        let run = try CommandRun.coredata("model", "lint", model, "--version", "M 2")
        #expect(run.output.contains("[required-without-default]") && run.status == 0)
        let missing = try CommandRun.coredata("model", "lint", model, "--version", "M 3")
        #expect(missing.status == 2 && missing.error.contains("did you mean 'M 2'?") || missing.error.contains("'M'?"))
    }

    @Test func whatIsNoModelIsNotChecked() throws {
        let scratch = try Scratch()
        let run = try CommandRun.coredata("model", "lint", scratch.path("Nothing.xcdatamodeld"))
        #expect(run.status == 2 && run.output.isEmpty && run.error.contains("there is no file"))
    }

    @Test func theExampleIsClean() throws {
        let run = try CommandRun.coredata("model", "lint", CommandRun.exampleModel, "--strict")
        #expect(run.status == 0 && run.output == "Model: nothing to mend\n")
    }
}
