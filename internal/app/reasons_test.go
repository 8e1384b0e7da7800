package app

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestReasonsGetTheirArguments counts the arguments of every kind of reason where it is used, for the compiler does not.
func TestReasonsGetTheirArguments(t *testing.T) {
	type file struct {
		pkg  string
		tree *ast.File
	}
	places := regexp.MustCompile(`\{(\w+)`)
	wanted, files := map[string]int{}, map[string]file{} // by package and name; by path
	fset := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		tree, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f := file{filepath.Base(filepath.Dir(path)), tree}
		files[path] = f
		ast.Inspect(tree, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is {
				return true
			}
			for i, value := range spec.Values {
				for { // what For wraps
					call, is := value.(*ast.CallExpr)
					if !is {
						break
					}
					f2, is := call.Fun.(*ast.SelectorExpr)
					if !is {
						break
					}
					if from, is := f2.X.(*ast.Ident); is && from.Name == "reason" && f2.Sel.Name == "New" && len(call.Args) == 3 {
						english, err := text(call.Args[1])
						if err != nil {
							t.Errorf("%s: the English of %s is no literal", fset.Position(call.Pos()), spec.Names[i].Name)
						}
						names := map[string]bool{}
						for _, place := range places.FindAllStringSubmatch(english, -1) {
							names[place[1]] = true
						}
						wanted[f.pkg+"."+spec.Names[i].Name] = len(names)
					}
					value = f2.X
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || call.Ellipsis.IsValid() {
				return true
			}
			with, is := call.Fun.(*ast.SelectorExpr)
			if !is || with.Sel.Name != "With" {
				return true
			}
			name := ""
			switch x := with.X.(type) {
			case *ast.Ident:
				name = f.pkg + "." + x.Name
			case *ast.SelectorExpr:
				if from, is := x.X.(*ast.Ident); is {
					name = from.Name + "." + x.Sel.Name
				}
			}
			if count, is := wanted[name]; is && count != len(call.Args) {
				t.Errorf("%s: %s takes %d arguments, not %d", fset.Position(call.Pos()), name, count, len(call.Args))
			}
			return true
		})
	}
}

// text is the value of a literal, or of a sum of literals.
func text(e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.BinaryExpr:
		left, err := text(e.X)
		right, failure := text(e.Y)
		return left + right, errors.Join(err, failure)
	}
	return "", errors.New("it is no literal")
}
