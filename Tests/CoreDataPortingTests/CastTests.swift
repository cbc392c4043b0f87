import CoreDataPorting
import Testing

@Suite struct CastTests {
    @Test(arguments: [
        (
            "let r = T.fetchRequest() as! NSFetchRequest<T>",
            "let r = NSFetchRequest<T>.cast(T.fetchRequest())!"
        ),
        (
            "guard let r = T.fetchRequest() as? NSFetchRequest<T> else { return }",
            "guard let r = NSFetchRequest<T>.cast(T.fetchRequest()) else { return }"
        ),
        (
            "r = model.fetchRequestTemplate(forName: \"a\")?.copy() as! NSFetchRequest<Book>",
            "r = NSFetchRequest<Book>.cast(model.fetchRequestTemplate(forName: \"a\")?.copy())!"
        ),
        (
            "let a = try c.fetch(f as! NSFetchRequest<NSFetchRequestResult>)",
            "let a = try c.fetch(NSFetchRequest<NSFetchRequestResult>.cast(f)!)"
        ),
        ("let a = try f() as! NSFetchRequest<A>", "let a = try NSFetchRequest<A>.cast(f())!"),
    ])
    func castThatNeedsObjectiveCIsACall(before: String, after: String) throws { try check(before, becomes: after) }

    @Test(arguments: [
        "let r = x as? Book", "let r = A.fetchRequest() as NSFetchRequest<A>", "let s: NSArray = [a]",
        "let s = [a] as Set", "let s: NSSet = [a, b]", "var s: NSMutableSet? = []", "f([a] as NSSet)",
        "let r = x as! NSFetchRequestResultType",
    ])
    func otherCastsStay(text: String) throws { try check(text, becomes: text) }

    @Test func castBehindAnOperatorIsTold() throws {
        let ported = try port("import CoreData\nlet r = a + b as! NSFetchRequest<A>")
        #expect(ported.remarks.map(\.location?.line) == [2])
        #expect(!ported.isChanged)
    }
}
