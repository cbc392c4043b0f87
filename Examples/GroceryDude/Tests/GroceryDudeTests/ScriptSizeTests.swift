import LivePages
import Testing

/// The size of what a page loads; the scripts and the style sheet are served as they are.
@Suite struct ScriptSizeTests {
    @Test(arguments: [
        ("app.js", 13_600), ("keep.js", 7_900), ("stream.js", 2_000), ("sw.js", 2_000), ("app.css", 20_000),
    ])
    func aFileDoesNotGrow(_ name: String, _ most: Int) throws {
        #expect(try #require(Assets.data(name)).count <= most)
    }
}
