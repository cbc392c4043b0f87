import CoreDataStudio
import Testing

@Suite struct RouterTests {
    private static func router() -> Router {
        var router = Router()
        router.get("/") { _ in StudioResponse(status: 200) }
        router.get("/store/rows/:entity") { _ in StudioResponse(status: 201) }
        router.post("/store/rows/:entity") { _ in StudioResponse(status: 202) }
        router.get("/store/:part/all") { _ in StudioResponse(status: 203) }
        return router
    }

    private static func summary(_ method: String, _ path: String) -> String {
        switch router().outcome(method: method, path: path) {
        case .found(let match):
            (["found"] + match.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
                .joined(separator: " ")
        case .otherMethod(let methods): "only \(methods.joined(separator: ","))"
        case .missing: "missing"
        }
    }

    @Test(arguments: [
        ("GET", "/", "found"), ("HEAD", "/", "found"), ("POST", "/", "only GET"),
        ("GET", "/store/rows/Item", "found entity=Item"), ("GET", "/store/rows/Item/", "found entity=Item"),
        ("POST", "/store/rows/A%2FB%3F", "found entity=A/B?"), ("GET", "/store/rows/%2E%2E", "found entity=.."),
        ("GET", "/store/rows/%ff", "missing"), ("GET", "/store/rows", "missing"), ("GET", "/store/rows/a/b", "missing"),
        ("GET", "/store/x/all", "found part=x"), ("GET", "store", "missing"), ("GET", "", "missing"),
        ("GET", "//", "missing"),
    ])
    func pathsFindTheirRoutes(method: String, path: String, outcome: String) {
        #expect(Self.summary(method, path) == outcome)
    }

    @Test func fieldsOfFormsAreRead() {
        let fields = FormFields(urlEncoded: "a=1&b=%3Cx%3E+y&a=2&c&=e&bad=%zz&d=a=b")
        #expect(fields["a"] == "2" && fields.all("a") == ["1", "2"] && fields["b"] == "<x> y")
        #expect(fields["c"] == "" && fields.text("c") == nil && fields["bad"] == nil && fields["d"] == "a=b")
    }
}
